import { expect, it } from 'vitest';
import { newWorkspace, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** Looks for runner processes and tries to read or change them. */
const script = `for process in /proc/[0-9]*; do
  pid=\${process#/proc/}
  tr '\\0' ' ' < $process/cmdline 2>/dev/null | grep -qE '(main|runner-process)[.]mjs' || continue
  echo "runner found"
  tr '\\0' '\\n' < $process/environ 2>/dev/null | grep -q . && echo "environment read"
  ls $process/fd/ 2>/dev/null | grep -q . && echo "open files listed"
  (exec 3<> $process/mem) 2>/dev/null && echo "memory opened"
  kill -0 $pid 2>/dev/null && echo "signal allowed"
  ls $process/cwd/ 2>/dev/null | grep -q . && echo "folder listed"
done
ls .. >/dev/null 2>&1 && echo "job folder listed"
cat ../own/* >/dev/null 2>&1 && echo "runner's files read"
echo "looked everywhere"
`;

it.runIf(separatesUsers)(`Terraform cannot read the runner's environment and memory${notSeparated}`, async () => {
  const main = `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "sh look.sh"
  }
}
`;
  const workspace = await newWorkspace({ 'auto-apply': true });
  const run = await startRun(workspace, { 'main.tf': main, 'look.sh': script });
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  const log = await readLog(run, 'apply');
  expect(log).toContain('looked everywhere');
  for (const deed of [
    'runner found',
    'environment read',
    'files listed',
    'memory opened',
    'signal allowed',
    'folder listed',
    'files read',
  ])
    expect(log).not.toContain(deed);
});
