print("frametap")
