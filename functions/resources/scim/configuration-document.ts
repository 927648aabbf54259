import { one } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import type { ScimConfiguration } from './configurations.ts';
import { baseOf } from './url.ts';

/** HCP API: SCIM configurations. */
export const configurationDocument = (configuration: ScimConfiguration, request: Pick<ApiRequest, 'baseUrl'>) => ({
  id: configuration.id,
  type: 'scim-configurations',
  attributes: {
    enabled: configuration.enabled,
    /** Not in HCP's API; its page shows it. */
    'base-url': baseOf(request, configuration),
    'created-at': configuration.createdAt,
    'updated-at': configuration.updatedAt,
  },
  relationships: { organization: one('organizations', configuration.organization) },
});
