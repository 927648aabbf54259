import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../transport/errors.ts';
import { makeFolder } from './tree.ts';

/** Pipes that are made by one start of `mkfifo`: more than the readers of most runs. */
const spares = Array.from({ length: 8 }, (_, n) => n + 1);

/**
 * Serves a text as a named pipe. Terraform reads a pipe like a file, but `fileset` and other searches for regular files
 * skip it, so that a configuration sees the same files here as elsewhere.
 *
 * Every reader gets its own pipe, which is replaced by the next one before it is written to. Otherwise unread text or
 * a second reader would garble the content.
 */
const server = `
exec 4<&0; (read -r _ <&4; kill -KILL 0) >/dev/null 2>&1 &
trap '' PIPE
while [ -p "$1.1" ] || mkfifo -m 644 ${spares.map((n) => `"$1.${n}"`).join(' ')}; do
  for n in ${spares.join(' ')}; do
    exec 3>"$1"
    mv -f "$1.$n" "$1" || exit 1
    printf '%s' "$2" >&3
    exec 3>&-
  done
done`;

export class OverridePipe {
  /** Path of the pipe, in a folder that Terraform's user cannot write: the runner opens it repeatedly. */
  readonly path: string;
  readonly text: string;
  #process: ChildProcess | undefined;

  /** @param folder owned by the runner, accessible to Terraform's user */
  constructor(folder: string, text: string) {
    makeFolder(folder, 0o755);
    this.path = join(folder, 'backend.tf');
    this.text = text;
    const env = { PATH: process.env.PATH };
    try {
      // Synchronous: Terraform may be started next.
      const paths = [this.path, ...spares.map((n) => `${this.path}.${n}`)];
      execFileSync('mkfifo', ['-m', '644', ...paths], { env, stdio: 'ignore' });
    } catch (error) {
      this.#fallBack(messageOf(error));
      return;
    }
    // In its own process group, which ends with the runner.
    const child = spawn('/bin/sh', ['-c', server, 'sh', this.path, text], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env,
    });
    child.on('error', (error) => this.#fallBack(messageOf(error)));
    child.on('exit', (code) => code !== null && this.#fallBack(`it ended with ${code}`));
    child.stdin?.on('error', () => {});
    child.unref();
    (child.stdin as { unref?(): void } | null)?.unref?.();
    this.#process = child;
  }

  /** Replaces the pipe by a file: a reader would wait forever. */
  #fallBack(reason: string): void {
    console.error(`the pipe with the backend's configuration is a file: ${reason}`);
    rmSync(this.path, { force: true });
    writeFileSync(this.path, this.text, { mode: 0o644 });
  }

  close(): void {
    const pid = this.#process?.pid;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // Already ended.
    }
  }
}
