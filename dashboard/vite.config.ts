// Builds the dashboard into dashboard/dist. The nonce is a placeholder that the server replaces for every page it sends
// (src/server/page/dashboard.ts), so that styles made at run time pass the content security policy.

import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwind()],
  html: { cspNonce: '__PAWL_NONCE__' },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // An asset in the page would be a data: address, which the policy allows for pictures only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
});
