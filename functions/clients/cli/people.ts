import type { Client, Resource } from '#clients/client/client.ts';
import { teamOfAccount } from '#clients/client/team-accounts.ts';

/** Gives accounts of team tokens the name of their team, for display. 1 request per team. */
export const withTeamNames = (client: Client, included: Resource[]): Promise<Resource[]> =>
  Promise.all(
    included.map(async (resource) => {
      const team = resource.type === 'users' ? teamOfAccount(resource) : undefined;
      if (!team) return resource;
      const username = await client.get(`/teams/${team}`).then(
        ({ attributes }) => `team ${attributes.name}`,
        // The team is deleted, or not visible.
        () => resource.attributes.username,
      );
      return { ...resource, attributes: { ...resource.attributes, username } };
    }),
  );
