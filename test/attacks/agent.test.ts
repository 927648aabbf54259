import { afterAll, expect, it } from 'vitest';
import { startAgent, stopAgents } from '#test/e2e/support/agents.ts';
import { client, newName, organization, platform, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** A run on an agent is in a room, too: its machine has the agent's token, and other runs of its pool. */

afterAll(stopAgents);

const look = `grep NoNewPrivs /proc/self/status
ls /proc | grep -c '^[0-9]' | awk '{ print ($1 < 15 ? "few processes" : $1 " processes") }'
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'stepform[.]mjs agent'
whole=$(echo "$HALVES" | tr -d '|')
echo "$whole" | grep -rlsF -D skip -f - /root /home /tmp /var/tmp /run /proc/[0-9]*/environ | sed 's/^/found in /'
echo looked
`;

it.runIf(separatesUsers && platform.dataDir)(
  `a run on an agent sees neither the agent nor its token${notSeparated}`,
  async () => {
    const name = newName('agent');
    const pool = await client.create(`/organizations/${organization}/agent-pools`, 'agent-pools', { name });
    const tokens = `/agent-pools/${pool.id}/authentication-tokens`;
    const token = (await client.create(tokens, 'authentication-tokens', { description: 'attack' })).attributes.token;
    const workspace = await client.createWorkspace(organization, name, {
      'execution-mode': 'agent',
      'agent-pool-id': pool.id,
      'auto-apply': true,
      'structured-run-output-enabled': false,
    });
    const halves = `${token.slice(0, 9)}|${token.slice(9)}`;
    await client.setVariable(workspace.id, { key: 'HALVES', value: halves, category: 'env' });
    startAgent(name, token);
    const main =
      'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "bash ./look.sh"\n  }\n}\n';
    const run = await startRun(workspace, { 'main.tf': main, 'look.sh': look });
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    const log = (await readLog(run, 'apply')).replace(/\u001B\[[0-9;]*m/g, '');
    const lines = [...log.matchAll(/\(local-exec\): (?!Executing)(.*)/g)].map(([, line]) => line);
    expect(lines).toEqual(['NoNewPrivs:\t1', 'few processes', '0', 'looked']);
  },
  180_000,
);
