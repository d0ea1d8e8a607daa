/** The tools of all examples: a desk of tickets, as functions, and the script of a model that closes one. */

import { open, tool } from "toolcrib";
import { z } from "zod";

export const desk = { 7: { title: "The printer is on fire", state: "open" } };

const number = z.int().describe("The number of the ticket.");

const getTicket = tool({
  name: "get_ticket",
  description: "Gets a ticket with its title and its state.",
  parameters: z.object({ number }),
  run: ({ number }) => desk[number],
});

const closeTicket = tool({
  name: "close_ticket",
  description: "Closes a ticket.",
  parameters: z.object({
    number,
    reason: z.enum(["done", "duplicate"]).default("done").describe("The reason why nothing more is to be done."),
  }),
  run({ number, reason }) {
    desk[number].state = `closed as ${reason}`;
    return desk[number];
  },
});

export const catalog = open([getTicket, closeTicket]);
export const question = "The printer is cold again. Close ticket 7.";
/** The second call has a reason that there is not; its answer tells which there are. */
export const script = [
  ["get_ticket", { number: 7 }],
  ["close_ticket", { number: 7, reason: "cold" }],
  ["close_ticket", { number: 7, reason: "done" }],
  "Ticket 7 is closed.",
];
/** The same where tools are bound by a name and a line: the doc is read first. */
export const readingScript = [["read_tool_doc", { name: "close_ticket" }], ...script];
