import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { call } from '#clients/web/session.ts';

const load = async (path: string) => {
  const linked = await call<Resource[]>('GET', `${path}?page[size]=100`);
  const installUrl = (linked.meta as { 'install-url'?: string | null } | undefined)?.['install-url'];
  if (!installUrl) return undefined;
  const own = await call<Resource[]>('GET', '/github-app/installations?page[size]=100').catch(() => ({ data: [] }));
  const unlinked = own.data.filter((installation) => !installation.attributes.organization);
  return { installUrl, linked: linked.data, unlinked };
};

/** Installations of the platform's GitHub App, if it has one: linked ones, and those that the user may link. */
export const GithubApp = ({ organization, manages }: OrganizationProps & { manages: boolean }) => {
  const path = `/organizations/${organization}/github-app-installations`;
  const live = useLive(path, () => load(path), 15_000);
  if (!live.value) return null;
  const { installUrl, linked, unlinked } = live.value;
  const installations = [...linked, ...(manages ? unlinked : [])];
  const authorize = async () => {
    const { data } = await call('POST', `${path}/actions/authorize`);
    location.assign(data.attributes['authorize-url']);
  };
  return (
    <Section title="GitHub App">
      {installations.length > 0 && (
        <List label="Installations of the GitHub App" of={installations}>
          {(installation) => {
            const { name, 'error-message': error } = installation.attributes;
            const isLinked = linked.includes(installation);
            const at = `${path}/${installation.id}`;
            return (
              <Item
                key={installation.id}
                title={name}
                beside={error && <span class="status bad">{error}</span>}
                meta={!isLinked && 'not linked'}
              >
                {!isLinked && (
                  <ActionButton
                    primary
                    text={`Link ${name}`}
                    work={() => call('POST', `${at}/link-account`)}
                    onDone={live.refresh}
                  />
                )}
                {isLinked && manages && (
                  <ConfirmButton
                    text="Unlink"
                    danger={false}
                    title={`Unlink the installation for ${name}?`}
                    yes="Unlink"
                    onYes={() => call('DELETE', at)}
                    onClose={live.refresh}
                  >
                    <p>Workspaces that follow its repositories are disconnected from them.</p>
                  </ConfirmButton>
                )}
              </Item>
            );
          }}
        </List>
      )}
      <div class="panel pad stack">
        <p>
          <a href={installUrl}>Install the app</a> at GitHub, then authorize it with your own account to link the
          installation. Comments of the account on pull requests count as yours from then on.
        </p>
        <Form submit="Authorize with GitHub" onSubmit={authorize} />
      </div>
    </Section>
  );
};
