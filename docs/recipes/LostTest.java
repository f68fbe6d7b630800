// Needs CONTROL (http://host:port) and TOKEN of a proxy with --control and --format line, and SERVER (host:port), which must return each line.
import java.net.*; import java.net.http.*;

class LostTest {
    static String call(String method, String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("CONTROL") + "/api/v1" + path)).method(method, HttpRequest.BodyPublishers.ofString(body))
            .header("Authorization", "Bearer " + System.getenv("TOKEN")).header("Content-Type", "application/json").build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    public static void main(String[] arguments) throws Exception {
        var proxy = call("POST", "/listeners", "{\"name\":\"java\",\"to\":\"" + System.getenv("SERVER") + "\",\"format\":\"line\",\"rules\":[\"drop: body.text == \\\"two\\\"; once: true\"]}");
        var port = Integer.parseInt(proxy.replaceAll(".*\"listen\":\"[^\"]*:(\\d+)\".*\\s*", "$1"));
        try (var client = new Socket("127.0.0.1", port)) {
            client.getOutputStream().write("one\ntwo\nthree\n".getBytes());
            var events = call("GET", "/listeners/java/wait?when=" + URLEncoder.encode("from == \"server\" and body.text == \"three\"", "UTF-8"), "");
            if (!events.contains("\"index\":1")) throw new AssertionError(events);
        }
    }
}
