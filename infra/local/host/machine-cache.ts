import { homedir } from 'node:os';
import { join } from 'node:path';

/** Programs that were downloaded or built on this machine, shared by all checkouts, data folders and runners. */
export const machineCache = join(homedir(), '.cache', 'stepform');
