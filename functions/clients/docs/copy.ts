/** A button at each block of code. Outputs are not for copying. */
export const addCopyButtons = (): void => {
  if (!navigator.clipboard) return;
  for (const figure of document.querySelectorAll('figure:has(> pre)')) {
    if (figure.querySelector('figcaption')?.textContent === 'Output') continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code')?.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    figure.append(button);
  }
};
