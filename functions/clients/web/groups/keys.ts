export { KeyHelp } from '../parts/key-help.tsx';
export { Palette } from '../parts/palette.tsx';
