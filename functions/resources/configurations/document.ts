import { one, type Resource } from '#api/answer.ts';
import type { Ingress } from '#run/run.ts';
import type { ConfigurationVersion } from './records.ts';

/** `uploadUrl` is present only in the response to the creation. */
export const configurationVersionDocument = (version: ConfigurationVersion, uploadUrl: string | null = null) => ({
  id: version.id,
  type: 'configuration-versions',
  attributes: {
    status: version.status,
    'auto-queue-runs': version.autoQueueRuns,
    speculative: version.speculative,
    provisional: version.provisional,
    source: version.source,
    error: version.errorMessage ? (version.commitArchive ? 'fetch_failed' : 'invalid_archive') : null,
    'error-message': version.errorMessage ?? null,
    'changed-files': version.changedFiles ?? [],
    'status-timestamps': version.statusTimestamps,
    'upload-url': uploadUrl,
  },
  relationships: { 'ingress-attributes': one('ingress-attributes', version.ingress && ingressId(version.id)) },
  links: {
    self: `/api/v2/configuration-versions/${version.id}`,
    ...(version.status === 'uploaded' ? { download: `/api/v2/configuration-versions/${version.id}/download` } : {}),
  },
});

const ingressId = (versionId: string): string => versionId.replace(/^cv-/, 'ia-');

/** Values that the uploader does not know are null. */
export const ingressDocument = (versionId: string, ingress: Ingress) => ({
  id: ingressId(versionId),
  type: 'ingress-attributes',
  attributes: {
    branch: ingress.branch,
    'clone-url': ingress.cloneUrl,
    'commit-message': ingress.commitMessage,
    'commit-sha': ingress.commitSha,
    'commit-url': ingress.commitUrl,
    'compare-url': ingress.compareUrl ?? null,
    identifier: ingress.identifier,
    'is-pull-request': ingress.pullRequest !== undefined,
    'on-default-branch': ingress.onDefaultBranch ?? false,
    'pull-request-number': ingress.pullRequest?.number ?? (ingress.fromForge ? 0 : null),
    'pull-request-url': ingress.pullRequest?.url ?? null,
    'pull-request-title': ingress.pullRequest?.title ?? null,
    'pull-request-body': ingress.pullRequest?.body ?? null,
    tag: ingress.tag ?? null,
    'sender-username': ingress.senderUsername,
    'sender-avatar-url': ingress.senderAvatarUrl ?? null,
    'sender-html-url': ingress.senderHtmlUrl ?? null,
  },
  links: { self: `/api/v2/configuration-versions/${versionId}/ingress-attributes` },
});

/** Skips versions without ingress attributes. */
export const ingressDocuments = (versions: { id: string; ingress?: Ingress }[]): Resource[] =>
  versions.flatMap(({ id, ingress }) => (ingress ? [ingressDocument(id, ingress)] : []));
