// A broker, or one who trades with it: fix acceptor|initiator SETTINGS

#include <quickfix/Application.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>
#include <string>
#include <unistd.h>

using FIX::Message;
using FIX::SessionID;

static void set(Message& message, int tag, const std::string& value) { message.setField(tag, value); }

static Message made(const char* kind) {
    Message message;
    message.getHeader().setField(FIX::FIELD::MsgType, kind);
    return message;
}

struct Broker : FIX::NullApplication {
    int count = 0;

    void fromApp(const Message& message, const SessionID& session) noexcept override {
        const std::string kind = message.getHeader().getField(FIX::FIELD::MsgType);
        if (kind != "D") {
            if (kind != "F") return;
            Message refused = made("9");
            set(refused, 37, "NONE");
            set(refused, 11, message.getField(11));
            set(refused, 41, message.getField(41));
            set(refused, 39, "8");
            set(refused, 434, "1");
            set(refused, 58, "There is no such order");
            FIX::Session::sendToTarget(refused, session);
            return;
        }
        // New; then a fill, or a refusal.
        for (const char* status : {"0", message.getField(55) == "NONE" ? "8" : "2"}) {
            Message report = made("8");
            set(report, 37, "order " + message.getField(11));
            set(report, 11, message.getField(11));
            set(report, 17, "execution " + std::to_string(++count));
            set(report, 150, *status == '2' ? "F" : status);
            set(report, 39, status);
            set(report, 55, message.getField(55));
            set(report, 54, message.getField(54));
            set(report, 151, "0");
            set(report, 14, *status == '2' ? message.getField(38) : "0");
            set(report, 6, "12.50");
            for (const char* party : {"CLIENT", "CLEARER"}) {
                FIX::Group parties(453, 448, FIX::message_order(448, 447, 452, 0));
                parties.setField(448, party);
                parties.setField(447, "D");
                parties.setField(452, *party == 'C' ? "3" : "4");
                report.addGroup(parties);
            }
            FIX::Session::sendToTarget(report, session);
        }
    }
};

struct Trader : FIX::NullApplication {
    bool loggedOn = false;

    void onLogon(const SessionID&) override { loggedOn = true; }

    void toAdmin(Message& message, const SessionID&) noexcept override {
        if (message.getHeader().getField(FIX::FIELD::MsgType) != "A") return;
        set(message, 553, "alice");
        set(message, 554, "sesame");
        // Data may have the separator in them.
        set(message, 95, "7");
        set(message, 96, std::string("a\00110=b\001", 7));
    }
};

static Message order(int number, const std::string& symbol) {
    Message message = made("D");
    set(message, 11, "A" + std::to_string(number));
    set(message, 21, "1");
    set(message, 55, symbol);
    set(message, 54, number % 2 ? "1" : "2");
    set(message, 60, "20261121-08:00:00.000");
    set(message, 38, std::to_string(100 * number));
    set(message, 40, "2");
    set(message, 44, "12.5");
    return message;
}

static void trade(Trader& trader, const SessionID& session) {
    for (int wait = 0; !trader.loggedOn && wait < 100; wait++) usleep(100'000);
    auto send = [&](Message message) { FIX::Session::sendToTarget(message, session); };
    send(order(1, "ABC"));
    usleep(300'000);
    send(order(2, "NONE"));
    Message cancel = made("F");
    set(cancel, 11, "C1");
    set(cancel, 41, "A99");
    set(cancel, 55, "ABC");
    set(cancel, 54, "1");
    set(cancel, 60, "20261121-08:00:01.000");
    send(cancel);
    usleep(300'000);
    for (int number = 3; number < 9; number++) send(order(number, "XYZ"));
    Message test = made("1");
    set(test, 112, "are you there?");
    send(test);
    // Longer than a segment, and every byte there is; then the same without any text.
    Message news = made("B");
    set(news, 148, "Grüße, 世界");
    for (int line = 0; line < 40; line++) {
        FIX::Group text(33, 58, FIX::message_order(58, 0));
        text.setField(58, "line " + std::to_string(line) + " of the news; " + std::string(line, '.'));
        news.addGroup(text);
    }
    std::string every;
    for (int byte = 0; byte < 256; byte++) every += char(byte);
    set(news, 95, "256");
    set(news, 96, every);
    send(news);
    // No such message: refused.
    send(made("ZZ"));
    // Silence: heartbeats.
    sleep(4);
}

int main(int, char** arguments) {
    FIX::SessionSettings settings(arguments[2]);
    FIX::MemoryStoreFactory store;
    if (std::string(arguments[1]) == "acceptor") {
        Broker broker;
        FIX::SocketAcceptor acceptor(broker, store, settings);
        acceptor.start();
        pause();
    } else {
        Trader trader;
        FIX::SocketInitiator initiator(trader, store, settings);
        initiator.start();
        trade(trader, *settings.getSessions().begin());
        initiator.stop();
    }
}
