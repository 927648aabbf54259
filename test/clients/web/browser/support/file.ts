import { afterAll, afterEach, beforeAll } from 'vitest';
import { closeServers } from '#test/e2e/support/run-tasks.ts';
import { endCommands } from '#test/e2e/support/terraform.ts';
import { afterTest, openBrowser } from './reader.ts';

/** Around every file: they share a process, where each module is loaded once, with what it would do after its first file. */

beforeAll(openBrowser);
afterEach(afterTest);
afterAll(closeServers);
afterAll(endCommands);
