import { useList } from '#clients/web/live.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { DeleteButton } from '#clients/web/parts/dialog.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Section } from '#clients/web/parts/section.tsx';

/** Entity ids of SAML (`saml:…`) are URLs mostly, but can be any URI. */
const hostOf = (issuer: string): string => {
  const id = issuer.replace(/^saml:/, '');
  return URL.parse(id)?.host || id;
};

/** Identities at the identity provider that sign in as this user. */
export const Identities = () => {
  const live = useList<'identities'>('/account/identities', 30_000);
  return (
    <Loaded live={live} what="identities">
      {(identities) =>
        identities.length > 0 && (
          <Section title="Connected identities" label="Identities">
            <List label="Connected identities" of={identities}>
              {({ id, attributes: { subject, issuer, 'created-at': at } }) => (
                <Item
                  key={id}
                  title={subject}
                  meta={
                    <>
                      {hostOf(issuer)} · connected <Ago at={at} />
                    </>
                  }
                >
                  <DeleteButton
                    text="Disconnect"
                    of={subject}
                    path={`/account/identities/${id}`}
                    onClose={live.refresh}
                  >
                    You can no longer sign in with it, and its sessions end. API tokens stay valid.
                  </DeleteButton>
                </Item>
              )}
            </List>
          </Section>
        )
      }
    </Loaded>
  );
};
