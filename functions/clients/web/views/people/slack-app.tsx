import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Facts, Loaded } from '#clients/web/parts/basics.tsx';
import { DeleteButton, FormButton } from '#clients/web/parts/dialog.tsx';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { call, find } from '#clients/web/session.ts';

const fields = ['team-id', 'client-id', 'client-secret', 'signing-secret'];

/** The Slack app whose messages have buttons, for owners. */
export const SlackApp = ({ organization }: OrganizationProps) => {
  const path = `/organizations/${organization}/slack-app`;
  const live = useLive(path, () => find<'slack-apps'>(path), 30_000);
  const submit = async (data: FormData) => {
    const given = fields.flatMap((name) => (textOf(data, name) ? [[name, textOf(data, name)]] : []));
    await call('PUT', path, { data: { type: 'slack-apps', attributes: Object.fromEntries(given) } });
    live.refresh();
  };
  return (
    <Panel title="Slack" label="Slack app">
      <p class="soft">
        Members confirm, discard and override runs by buttons in the messages of your Slack app, with their own
        permissions. Each of them connects a Slack account under Tokens.
      </p>
      <Loaded live={live} what="Slack app">
        {(app) => {
          const { attributes } = app ?? {};
          return (
            <div class="stack">
              {attributes && (
                <Facts
                  facts={[
                    ['Slack workspace', attributes['team-id']],
                    ['Interactivity request URL', attributes['interactions-url']],
                    ['Redirect URL', attributes['redirect-url']],
                  ]}
                />
              )}
              <div class="row">
                <FormButton
                  text={app ? 'Change Slack app' : 'Set up Slack app'}
                  title="Slack app"
                  submit="Save"
                  values={attributes ?? {}}
                  onSubmit={submit}
                >
                  <Text
                    label="Workspace ID"
                    name="team-id"
                    required
                    hint="Begins with T, in the address of your Slack."
                  />
                  <Text label="Client ID" name="client-id" required hint="Basic information of the app." />
                  <Text
                    label="Client secret"
                    name="client-secret"
                    type="password"
                    required={!app}
                    hint={app ? 'Empty: unchanged.' : 'Stored encrypted.'}
                  />
                  <Text
                    label="Signing secret"
                    name="signing-secret"
                    type="password"
                    required={!app}
                    hint={
                      app ? 'Empty: unchanged.' : 'Stored encrypted. Who knows it can decide as every connected member.'
                    }
                  />
                </FormButton>
                {app && (
                  <DeleteButton text="Remove" of="Slack app" path={path} onClose={live.refresh}>
                    New messages have no buttons, and all connected accounts are disconnected.
                  </DeleteButton>
                )}
              </div>
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
};
