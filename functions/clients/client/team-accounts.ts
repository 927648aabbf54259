import type { Resource } from './client.ts';

/** Id of the team whose token acts as this user, whose username is made from it; undefined for people. */
export const teamOfAccount = ({ attributes }: Resource): string | undefined => {
  const id = attributes['is-service-account'] && /^api-team-(.+)$/.exec(attributes.username)?.[1];
  return id ? `team-${id}` : undefined;
};
