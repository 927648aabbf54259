import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A run task like an integration's: checks the signature, answers 200, and calls back with its result. */

interface Asked {
  access_token: string;
  stage: string;
  task_result_callback_url: string;
  plan_json_api_url?: string;
}

interface PlanJson {
  resource_changes?: { address: string; change: { actions: string[] } }[];
}

interface TagsOf {
  tags: Record<string, { label: string; level: 'none' | 'info' | 'warning' | 'error' }[]>;
}

export interface DemoTask {
  url: string;
  close(): Promise<void>;
}

/** Access token in the platform's test request when a run task is created. */
const verification = 'test-token';

export const startTask = async (hmacKey: string, say: (line: string) => void): Promise<DemoTask> => {
  const isSigned = (body: Buffer, signature: string): boolean => {
    const expected = createHmac('sha512', hmacKey).update(body).digest('hex');
    return signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
  };

  const callBack = async (asked: Asked, attributes: object, outcomes: ({ 'outcome-id': string } & TagsOf)[] = []) => {
    const response = await fetch(asked.task_result_callback_url, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${asked.access_token}`, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({
        data: {
          type: 'task-results',
          attributes,
          relationships: {
            outcomes: { data: outcomes.map((one) => ({ type: 'task-result-outcomes', attributes: one })) },
          },
        },
      }),
    });
    if (!response.ok) throw new Error(`callback: ${response.status} ${await response.text()}`);
  };

  /** Reads the plan with the token of the request, which gives access to nothing else. */
  const look = async (asked: Asked): Promise<PlanJson> => {
    if (!asked.plan_json_api_url) return {};
    const response = await fetch(asked.plan_json_api_url, {
      headers: { authorization: `Bearer ${asked.access_token}` },
    });
    if (!response.ok) throw new Error(`plan: ${response.status}`);
    return (await response.json()) as PlanJson;
  };

  const work = async (asked: Asked): Promise<void> => {
    await callBack(asked, { status: 'running', message: 'scanning' });
    const { resource_changes = [] } = await look(asked);
    await sleep(300);
    const changes = resource_changes.filter(({ change }) => !change.actions.includes('no-op'));
    const outcomes = changes.slice(0, 3).map(({ address, change }, i) => ({
      'outcome-id': `SCAN-${i + 1}`,
      description: `${address}: ${change.actions.join(' and ')}`,
      body: `# ${address}\n\nNothing to worry about.`,
      tags: {
        status: [{ label: 'passed', level: 'none' as const }],
        severity: [{ label: 'low', level: 'info' as const }],
      },
    }));
    say(`${asked.stage}: passed, ${outcomes.length} outcomes of ${changes.length} changes`);
    await callBack(asked, { status: 'passed', message: `${changes.length} changes scanned` }, outcomes);
  };

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const body = Buffer.concat(parts);
    if (!isSigned(body, String(request.headers['x-tfc-task-signature']))) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(200).end();
    const asked = JSON.parse(body.toString()) as Asked;
    if (asked.access_token === verification) return;
    say(`${asked.stage}: request received, signature valid`);
    await work(asked).catch((error: Error) => say(`failed: ${error.message}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
