/** Chapter 20, 4.2 and 15: what is found by a scan before anything is parsed. */
export const maxFileBytes = 5 * 1024 * 1024;
export const maxDocuments = 10_000;
export const maxDepth = 100;
