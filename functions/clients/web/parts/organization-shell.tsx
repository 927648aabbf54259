import type { ComponentChildren } from 'preact';
import type { OrganizationView } from '#clients/client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { useOrganization } from '../organization.ts';
import { sectionGroups } from '../sections.ts';
import { Shell } from './shell.tsx';
import { useCurrentInSight } from './tabs.tsx';

/** Frame of an organization's views, with the navigation. */
export const OrganizationShell = ({
  organization,
  at,
  waiting = 0,
  children,
}: {
  organization: string;
  at: OrganizationView;
  /** Number of runs that wait for this user, for the tab's title and icon. */
  waiting?: number;
  children: ComponentChildren;
}) => {
  const permissions = useOrganization(organization)?.attributes.permissions;
  const tabs = useCurrentInSight(permissions);
  return (
    <Shell
      title={waiting ? `(${waiting}) ${organization}` : organization}
      tone={waiting ? 'attention' : undefined}
      crumbs={[{ text: organization }]}
    >
      <div class="beside">
        <nav ref={tabs} class="side" aria-label="Organization">
          {sectionGroups.map(({ name: group, sections }) => {
            const shown = sections.filter(
              ({ view, permission }) => permission === undefined || view === at || permissions?.[permission],
            );
            return (
              shown.length > 0 && (
                <div key={group}>
                  <p class="group" aria-hidden="true">
                    {group}
                  </p>
                  {shown.map(({ view, name }) => (
                    <a key={view} href={hrefOf({ view, organization })} aria-current={view === at ? 'page' : undefined}>
                      {name}
                    </a>
                  ))}
                </div>
              )
            );
          })}
        </nav>
        <div class="view">{children}</div>
      </div>
    </Shell>
  );
};
