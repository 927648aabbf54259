import { expect, it } from 'vitest';
import { client, newWorkspace, platform, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** Searches for secrets in every file that all users of the machine can read, and in the visible data of processes. */

/** Finds what it has written itself: the search works. */
const search = `echo $OWN | tr -d '|' >/tmp/own
echo $HALVES,$OWN | tr -d '|' | tr ',' '\\n' \\
  | grep -rlsF -D skip -f - "$DATA" /etc /home /root /var /run /opt /srv /tmp /usr/local /proc/[0-9]*/environ /proc/[0-9]*/cmdline \\
  | sed "s/^/found in /"
ls "$DATA" >/dev/null 2>&1 && echo "listed the data folder"
echo "looked everywhere"
`;

/** Split, because the search would find whole values in the variable and the script. */
const halved = (secret: string): string => `${secret.slice(0, 5)}|${secret.slice(5)}`;

it.runIf(separatesUsers && platform.dataDir)(
  `a run finds no secret of the platform or of another workspace in any file or process${notSeparated}`,
  async () => {
    const secret = `secret-of-another-${process.pid}`;
    const other = await newWorkspace({ 'auto-apply': true });
    await client.setVariable(other.id, { key: 'secret', value: secret, category: 'terraform', sensitive: true });
    const files = {
      'main.tf': `variable "secret" {}
resource "terraform_data" "a" {
  input = var.secret
  provisioner "local-exec" {
    command = "sleep 20"
  }
}
`,
    };
    const victim = await startRun(other, files);
    await client.waitForRun(victim.id, ({ attributes }) => attributes.status === 'applying');
    const workspace = await newWorkspace({ 'auto-apply': true, 'structured-run-output-enabled': false });
    const variables = {
      HALVES: [secret, platform.token].map(halved).join(','),
      OWN: halved(`own-secret-${process.pid}`),
      DATA: platform.dataDir as string,
    };
    for (const [key, value] of Object.entries(variables))
      await client.setVariable(workspace.id, { key, value, category: 'env' });
    const run = await startRun(workspace, {
      'main.tf':
        'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "bash ./search.sh"\n  }\n}\n',
      'search.sh': search,
    });
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    const log = await readLog(run, 'apply');
    expect(log).toContain('looked everywhere');
    expect(log.match(/found in \S+|listed the data folder/g)).toEqual(['found in /tmp/own']);
    expect((await untilFinal(victim)).attributes.status).toBe('applied');
  },
  180_000,
);
