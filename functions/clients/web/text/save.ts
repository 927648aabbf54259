/** Downloads a file in the browser. */
export const saveFile = (text: string, name: string, type = 'text/plain'): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};
