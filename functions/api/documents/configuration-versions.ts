import type { ConfigurationVersion } from '../../store/workspaces/configuration-versions.ts';
import { one, type Resource } from '../answer.ts';

/** `uploadUrl` only in the answer to its creation. */
export const configurationVersionDocument = (
  version: ConfigurationVersion,
  uploadUrl: string | null = null,
): Resource => ({
  id: version.id,
  type: 'configuration-versions',
  attributes: {
    status: version.status,
    'auto-queue-runs': version.autoQueueRuns,
    speculative: version.speculative,
    provisional: version.provisional,
    source: version.source,
    error: version.errorMessage ? 'invalid_archive' : null,
    'error-message': version.errorMessage ?? null,
    'changed-files': [],
    'status-timestamps': version.statusTimestamps,
    'upload-url': uploadUrl,
  },
  relationships: { 'ingress-attributes': one('ingress-attributes', null) },
  links: {
    self: `/api/v2/configuration-versions/${version.id}`,
    ...(version.status === 'uploaded' ? { download: `/api/v2/configuration-versions/${version.id}/download` } : {}),
  },
});
