#!/usr/bin/env node
import { runCommand } from './run.js';

// Whoever reads us may stop early: `manifest-analyzer … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 2);
});
const stop = new AbortController();
process.once('SIGINT', () => {
  stop.abort(new Error('stopped'));
});
process.exitCode = await runCommand(process.argv.slice(2), process, stop.signal);
