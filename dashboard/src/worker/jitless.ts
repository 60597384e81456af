// zod tries whether it may make functions from text, which the content security policy forbids and reports. It is told not to,
// before any schema is made: this module is imported first.

import { z } from 'zod';

z.config({ jitless: true });
