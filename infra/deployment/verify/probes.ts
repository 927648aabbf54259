import { createHash, randomBytes } from 'node:crypto';
import type { Platform } from './platform.ts';

/** One auto-applied run that prints what it sees: a sealed variable, its identity token, and what it reaches. */

export const identityAudience = 'stepform.verify';

/** Prints the token in a form that the log does not mask. */
export const printIdentity = `printf %s "$TFC_WORKLOAD_IDENTITY_TOKEN" | rev | tr -d '\\n' | fold -w 60 | sed 's/^/shown:/; s/$/:/'`;

export const identityIn = (log: string): string =>
  [...log.matchAll(/shown:(\S+):/g)]
    .map(([, part]) => part)
    .join('')
    .split('')
    .reverse()
    .join('');

/** One machine shares its network with runs. A container on Fargate has no metadata of a machine. */
const lookForMetadata = `(timeout 2 bash -c ': < /dev/tcp/169.254.169.254/80') 2>/dev/null && echo "reached: metadata of the machine"
`;

/** Prints a line `reached: …` for each part of the platform that the run can read, signal or call. */
const look = (
  isFargate: boolean,
): string => `env | grep -oE '^(AWS|ECS|STEPFORM)_[A-Z_]+' | sed 's/^/reached: variable /'
for process in /proc/[0-9]*; do
  pid=\${process#/proc/}
  tr '\\0' ' ' < $process/cmdline 2>/dev/null | grep -qE 'main[.]mjs|runner-process[.]mjs' || continue
  (tr '\\0' '\\n' < $process/environ | grep -q .) 2>/dev/null && echo "reached: environment of the runner"
  ls $process/fd/ 2>/dev/null | grep -q . && echo "reached: open files of the runner"
  (exec 3<> $process/mem) 2>/dev/null && echo "reached: memory of the runner"
  kill -0 $pid 2>/dev/null && echo "reached: signals to the runner"
  ls $process/cwd/ $process/root/ 2>/dev/null | grep -q . && echo "reached: folder of the runner"
done
${isFargate ? lookForMetadata : ''}echo "looked everywhere"
`;

const main = `variable "sealed" {
  type      = string
  sensitive = true
}
resource "terraform_data" "probe" {
  provisioner "local-exec" {
    command = "bash ./identity.sh; bash ./look.sh"
  }
}
output "opened" {
  value = nonsensitive(sha256(var.sealed))
}
`;

export const probes = async (platform: Platform) => {
  const { client } = platform;
  const workspace = await platform.newWorkspace('inside', {
    'auto-apply': true,
    // Logs as text.
    'structured-run-output-enabled': false,
  });
  const secret = randomBytes(24).toString('hex');
  const variable = await client.setVariable(workspace.id, { key: 'sealed', value: secret, sensitive: true });
  await client.setVariable(workspace.id, {
    key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE',
    value: identityAudience,
    category: 'env',
  });
  const files = {
    'main.tf': main,
    'identity.sh': `${printIdentity}\n`,
    'look.sh': look(platform.target.kind === 'aws'),
  };
  const { run } = await platform.start(workspace, files);
  const log = await platform.log(await platform.ended(run, 'applied'), 'apply');
  const hash = createHash('sha256').update(secret).digest('hex');
  return { workspace, run, log, secret, hash, shown: variable.attributes.value };
};
