import { client, type Resource } from '#test/e2e/support/world.ts';

/**
 * Runs an attacker's code in a plan without a provider of their own: `init` fetches a module by SSH, and the
 * workspace's variables choose the SSH program. The program serves a module, and leaves a daemon outside every process
 * group and session of the run, which has the runner's process as `$runner`.
 */

export const planCode = (daemon: string): Record<string, string> => ({
  'daemon.sh': daemon,
  ...initCode(`runner=$$
until tr '\\0' ' ' < /proc/$runner/cmdline | grep -qE '(main|runner-process)[.]mjs'; do
  runner=$(awk '/^PPid/ { print $2 }' /proc/$runner/status)
  [ "$runner" -gt 1 ] || break
done
export runner
(setsid sh ./daemon.sh >/dev/null 2>&1 </dev/null &)
`),
});

/** The same for a script that exits before the module is served. */
export const initCode = (script: string): Record<string, string> => ({
  'module.tf': 'module "fetched" {\n  source = "git::ssh://git@localhost/module"\n}\n',
  'ssh.sh': `${script}repository=$TMPDIR/repository
if [ ! -d "$repository" ]; then
  git init -q "$repository"
  cd "$repository"
  echo '# nothing' > main.tf
  git add .
  git -c user.email=a@example.com -c user.name=a commit -qm a
fi
exec git-upload-pack "$repository"
`,
});

export const letPlanCodeRun = (workspace: Resource): Promise<Resource> =>
  client.setVariable(workspace.id, { key: 'GIT_SSH_COMMAND', value: 'sh ./ssh.sh', category: 'env' });

/** Whether this machine can run Terraform as another user than the runner. */
export const separatesUsers = process.platform === 'linux' && process.getuid?.() === 0;
export const notSeparated = separatesUsers ? '' : ' (skipped: only root on Linux starts Terraform as another user)';
