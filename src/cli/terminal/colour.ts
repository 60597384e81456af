// Whether colours were refused on the command line. Apart from everything else: `pawl --version` loads this and little more.

let isRefused = false;

export function refuseColours(): void {
  isRefused = true;
}

export const coloursAreRefused = (): boolean => isRefused;
