import { afterAll, afterEach, beforeAll } from 'vitest';
import { closeServers } from '../../../e2e/support/run-tasks.ts';
import { endCommands } from '../../../e2e/support/terraform.ts';
import { closePages, openBrowser } from './reader.ts';

/** Around every file: they share a process, where each module is loaded once, with what it would do after its first file. */

beforeAll(openBrowser);
afterEach(closePages);
afterAll(closeServers);
afterAll(endCommands);
