import type { ComponentChildren } from 'preact';
import type { OrganizationView } from '#clients/client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { type OrganizationProps, useOrganization } from '../organization.ts';
import { sectionGroups } from '../sections.ts';
import { Notice, Skeleton } from './basics.tsx';
import { Shell } from './shell.tsx';
import { useCurrentInSight } from './tabs.tsx';

interface Props extends OrganizationProps {
  at: OrganizationView;
  /** Heading, if it is not the section's name. */
  title?: string;
  /** Beside the heading. */
  action?: ComponentChildren;
  /** Shown to users without the section's permission, instead of the view. */
  refused?: string;
  /** Number of runs that wait for this user, for the tab's title and icon. */
  waiting?: number;
  children: ComponentChildren;
}

const sections = sectionGroups.flatMap((group) => group.sections);

/** Frame of an organization's views, with the navigation. */
export const OrganizationShell = ({ organization, at, title, action, refused, waiting = 0, children }: Props) => {
  const permissions = useOrganization(organization)?.attributes.permissions;
  const tabs = useCurrentInSight(permissions);
  const section = sections.find(({ view }) => view === at);
  const isRefused = section?.permission && permissions && !permissions[section.permission];
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
        <div class="view">
          <div class="row spread">
            <h1>{title ?? section?.name}</h1>
            {action}
          </div>
          {!refused || (permissions && !isRefused) ? (
            children
          ) : isRefused ? (
            <Notice kind="warn">{refused}</Notice>
          ) : (
            <Skeleton what={String(section?.name).toLowerCase()} />
          )}
        </div>
      </div>
    </Shell>
  );
};
