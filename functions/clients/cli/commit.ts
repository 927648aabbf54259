import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The git commit of a folder, which the run records. */

const run = promisify(execFile);
/** Time limit of a git command. */
const gitMs = 5_000;

const git = async (folder: string, ...args: string[]): Promise<string | undefined> => {
  try {
    const { stdout } = await run('git', ['-C', folder, ...args], { timeout: gitMs });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
};

/** `git@github.com:acme/network.git` and `https://…/acme/network.git` as a web address without credentials. */
export const webAddressOf = (remote: string): string | undefined => {
  const short = /^(?:ssh:\/\/)?[\w.-]+@([\w.-]+)(?::\d+)?[:/](.+)$/.exec(remote);
  const url = URL.parse(short ? `https://${short[1]}/${short[2]}` : remote);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return `${url.origin}${url.pathname.replace(/\.git$/, '').replace(/\/+$/, '')}`;
};

/** URL of a commit on the most common hosts; undefined for others. */
const pageOf = (repository: string, sha: string): string | undefined => {
  const { host } = new URL(repository);
  if (/(^|\.)gitlab\./.test(host)) return `${repository}/-/commit/${sha}`;
  if (/(^|\.)bitbucket\./.test(host)) return `${repository}/commits/${sha}`;
  return /(^|\.)(github|gitea|codeberg)\./.test(host) ? `${repository}/commit/${sha}` : undefined;
};

/**
 * The API's ingress attributes of a checkout; undefined without a repository, or when files differ from the commit.
 */
export const commitOf = async (folder: string): Promise<Record<string, string | undefined> | undefined> => {
  const sha = await git(folder, 'rev-parse', '--verify', 'HEAD');
  if (!sha || (await git(folder, 'status', '--porcelain', '--', '.'))) return undefined;
  const [message, branch, author, remote] = await Promise.all([
    git(folder, 'log', '-1', '--format=%s'),
    git(folder, 'symbolic-ref', '--short', '-q', 'HEAD'),
    git(folder, 'log', '-1', '--format=%an'),
    git(folder, 'remote', 'get-url', 'origin'),
  ]);
  const repository = remote && webAddressOf(remote);
  return {
    'commit-sha': sha,
    'commit-message': message?.slice(0, 2000),
    'commit-url': repository && pageOf(repository, sha),
    // CI checks out exactly a commit.
    branch: branch ?? (process.env.GITHUB_REF_NAME || process.env.CI_COMMIT_BRANCH || undefined),
    identifier: repository && new URL(repository).pathname.slice(1),
    'clone-url': repository,
    'sender-username': author,
  };
};
