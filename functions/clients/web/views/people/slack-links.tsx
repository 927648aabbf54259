import { depart, failed } from '#clients/web/issuer.ts';
import { useList } from '#clients/web/live.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { DeleteButton } from '#clients/web/parts/dialog.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { related } from '#clients/web/session.ts';

/** The user's Slack accounts, whose clicks on buttons count as the user's; nothing without an organization with Slack. */
export const SlackLinks = () => {
  const live = useList<'slack-links'>('/account/slack-links', 30_000);
  return (
    <Loaded live={live} what="Slack accounts">
      {(links) =>
        links.length > 0 && (
          <Section title="Slack" label="Slack accounts">
            {failed.value && <Notice kind="bad">{failed.value}</Notice>}
            <List label="Slack accounts" of={links}>
              {(link) => {
                const { 'user-id': user, 'team-id': team, 'linked-at': at, 'connect-path': path } = link.attributes;
                const organization = related(link, 'organization') ?? '';
                const own = `/organizations/${organization}/slack-link`;
                return (
                  <Item
                    key={link.id}
                    title={organization}
                    meta={
                      user && at ? (
                        <>
                          {user} of workspace {team} · connected <Ago at={at} />
                        </>
                      ) : (
                        `Connect your account of workspace ${team} to decide about runs by buttons in Slack.`
                      )
                    }
                  >
                    {user ? (
                      <DeleteButton text="Disconnect" of={organization} path={own} onClose={live.refresh}>
                        Buttons in Slack no longer count as you.
                      </DeleteButton>
                    ) : (
                      <Button small text="Connect Slack" onClick={() => depart({ path }, { proves: own })} />
                    )}
                  </Item>
                );
              }}
            </List>
          </Section>
        )
      }
    </Loaded>
  );
};
