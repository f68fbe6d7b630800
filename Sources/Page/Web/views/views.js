import { ActionsView } from "./actions.js";
import { ConnectionsView } from "./connections.js";
import { ConversationView } from "./conversation.js";
import { FindingsView } from "./findings.js";
import { FramesView } from "./frames.js";
import { OverviewView } from "./overview.js";
import { RoundTripsView } from "./round-trips.js";
import { TimelineView } from "./timeline.js";

/** @typedef {import("../page.js").Page} Page */

/** The views, in the order of their keys. */
export const viewList = /** @type {{name: string, title: string, make: (page: Page) => import("../page.js").View, needs?: (page: Page) => boolean}[]} */ ([
  { name: "overview", title: "Overview", make: (page) => new OverviewView(page) },
  { name: "connections", title: "Connections", make: (page) => new ConnectionsView(page) },
  { name: "timeline", title: "Timeline", make: (page) => new TimelineView(page) },
  { name: "conversation", title: "Conversation", make: (page) => new ConversationView(page) },
  { name: "frames", title: "Frames", make: (page) => new FramesView(page) },
  { name: "findings", title: "Findings", make: (page) => new FindingsView(page) },
  { name: "roundtrips", title: "Round trips", make: (page) => new RoundTripsView(page) },
  { name: "actions", title: "Actions", make: (page) => new ActionsView(page), needs: (page) => page.state.actions },
]);
