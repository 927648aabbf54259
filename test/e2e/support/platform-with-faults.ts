import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Platform, startPlatform } from '#infra/local/commands/platform.ts';
import type { CountedRule, FaultRule } from '#infra/local/host/faults.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { checkNothingWasDenied } from './denials.ts';
import { Client } from './waiting.ts';

/**
 * A platform in this process, for the tests of one file, whose calls to AWS fail by rules.
 * @param waitMs time limit of its start
 */
export const platformWithFaults = (waitMs: number) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stepform-faults-'));
  const world = {} as { platform: Platform; client: Client };
  beforeAll(async () => {
    world.platform = await startPlatform({
      ...{ dataDir, port: 0, httpsPort: 0 },
      functionSettings: { REQUESTS_PER_SECOND: '1000' },
    });
    world.client = new Client(world.platform.local.url, world.platform.local.token);
  }, waitMs);
  afterAll(async () => {
    await world.platform?.close();
    checkNothingWasDenied(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const send = async (method: string, body?: string): Promise<Response> => {
    const answer = await operatorFetch(world.platform.local, '/_faults', { method, body });
    expect(answer.ok).toBe(true);
    return answer;
  };
  return Object.assign(world, {
    putFaults: async (rules: FaultRule[]): Promise<void> => {
      await send('PUT', JSON.stringify(rules));
    },
    faults: async (): Promise<CountedRule[]> => (await (await send('GET')).json()) as CountedRule[],
  });
};
