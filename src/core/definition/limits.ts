// The limits of a definition. With them, compiling takes milliseconds, whoever sent it.

/** The default; the caller may set another. */
export const MAX_NODES = 1_000;
export const MAX_EDGES = 20_000;
export const MAX_ID_LENGTH = 200;

/** How deep parameters may nest. They are the fourth level of each format; the definition is level 0. */
export const MAX_PARAMETER_DEPTH = 64;
export const MAX_DEPTH = 2 + MAX_PARAMETER_DEPTH;

/** Values (members, elements) of a whole definition. Also stops at shared or cyclic data. */
export const MAX_VALUES = 200_000;
/** The part of a response or callback that a pipeline keeps; the rest is cut off. */
export const MAX_STEP_BODY_BYTES = 256 * 1024;
/** Items of a forEach, nodes of an inline body, rounds of a repeat. */
export const MAX_ITEMS = 100_000;
export const MAX_BODY_NODES = 100;
export const MAX_ROUNDS = 100_000;
export const MAX_PARALLEL = 1_000;
/** The JSON text of one node's parameters, or of the outputs. A single expression is limited by its parser. */
export const MAX_TEMPLATE_CHARS = 1_000_000;
/** For a schedule's payload, as JSON. */
export const MAX_SCHEDULE_PAYLOAD_CHARS = 65_536;

/** Triggers in one file. */
export const MAX_FILE_TRIGGERS = 20;

/** The largest version of a workflow: the database stores it as `integer`. */
export const MAX_VERSION = 2_147_483_647;
