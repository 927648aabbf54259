// Writes the summary as a comment of the pull request: one for each workspace, which later runs update.
import { readFileSync } from 'node:fs';

const {
  GITHUB_API_URL = 'https://api.github.com',
  GITHUB_EVENT_PATH,
  GITHUB_REPOSITORY,
  GITHUB_TOKEN,
  SUMMARY,
  WORKSPACE,
} = process.env;
const number = GITHUB_EVENT_PATH && JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')).pull_request?.number;
const marker = `<!-- stepform ${WORKSPACE} -->`;

const call = async (path, init = {}) => {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${GITHUB_TOKEN}`,
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
    },
  });
  if (!response.ok)
    throw new Error(
      `${init.method ?? 'GET'} ${path}: HTTP ${response.status} ${(await response.text()).slice(0, 300)}`,
    );
  return response.json();
};

/** This workspace's comment by an app, as GitHub's own token is: users may write the marker, too. */
const findComment = async () => {
  for (let page = 1; ; page++) {
    const comments = await call(`/issues/${number}/comments?per_page=100&page=${page}`);
    const own = comments.find(({ body, user }) => body?.startsWith(marker) && user?.type === 'Bot');
    if (own || comments.length < 100) return own;
  }
};

if (number) {
  const body = JSON.stringify({ body: `${marker}\n${readFileSync(SUMMARY, 'utf8')}` });
  const own = await findComment();
  if (own) await call(`/issues/comments/${own.id}`, { method: 'PATCH', body });
  else await call(`/issues/${number}/comments`, { method: 'POST', body });
}
