/** Chapter 20, 4.2 and 15: what is found by a scan before anything is parsed. */
export const maxFileBytes = 5 * 1024 * 1024;
export const maxDocuments = 10_000;
export const maxDepth = 100;

/**
 * Of one document. The largest definition an API server takes (1.5 MiB in its store) has about 200_000; what a file within the
 * size limit can hold would cost the reader 20 seconds and gigabytes.
 */
export const maxLexemes = 500_000;
