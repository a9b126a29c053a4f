/** The longest that a timer can wait, in milliseconds; one that is to wait longer fires at once. */
export const MAX_DELAY = 2 ** 31 - 1;
