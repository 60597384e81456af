// Whether the command line turned colours off. In a file of its own, because `pawl --version` loads little more than this.

let isRefused = false;

export function refuseColours(): void {
  isRefused = true;
}

export const coloursAreRefused = (): boolean => isRefused;
