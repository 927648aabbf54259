import type { ApiRequest } from '#api/request.ts';
import type { ScimConfiguration } from './configurations.ts';

/** The URL that the directory is configured with. */
export const baseOf = ({ baseUrl }: Pick<ApiRequest, 'baseUrl'>, { id }: Pick<ScimConfiguration, 'id'>): string =>
  `${baseUrl}/scim/v2/${id}`;
