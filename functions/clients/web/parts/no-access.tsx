/** Empty state of people who see no workspace and may create none. */
export const NoAccess = ({ organization }: { organization: string }) => (
  <section class="panel empty">
    <h2>No workspaces available</h2>
    <p class="soft">Your teams have no access to workspaces. Ask an owner of {organization} for access.</p>
  </section>
);
