import type { ComponentChildren } from 'preact';
import type { OrganizationView } from '#clients/client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { type OrganizationProps, useOrganization } from '../organization.ts';
import { sectionGroups } from '../sections.ts';
import { Headed, Notice, Skeleton } from './basics.tsx';
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
            const [first] = shown;
            if (!first) return null;
            const isOpen = shown.length > 1 && shown.some(({ view }) => view === at);
            const name = shown.length > 1 || !permissions ? group : first.name;
            const link = (view: OrganizationView, text: string, look?: string) => (
              <a
                key={text}
                class={look}
                href={hrefOf({ view, organization })}
                aria-current={view === at && (!isOpen || look || text === first.name) ? 'page' : undefined}
              >
                {text}
              </a>
            );
            return (
              <div key={group}>
                {link(first.view, name)}
                {isOpen && shown.map((section) => section.name !== name && link(section.view, section.name, 'sub'))}
              </div>
            );
          })}
        </nav>
        <div class="view">
          <div class="row spread">
            <h1>{title ?? section?.name}</h1>
            {action}
          </div>
          {!refused || (permissions && !isRefused) ? (
            <Headed.Provider value>{children}</Headed.Provider>
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
