import { afterAll, afterEach, beforeAll } from 'vitest';
import { closeServers } from '#test/e2e/support/run-tasks.ts';
import { endCommands } from '#test/e2e/support/terraform.ts';
import { afterTest, openBrowser } from './reader.ts';

/**
 * Hooks of every test file: files share a process, in which a module is loaded once, so its own hooks would run for the
 * first file only.
 */

beforeAll(openBrowser);
afterEach(afterTest);
afterAll(closeServers);
afterAll(endCommands);
