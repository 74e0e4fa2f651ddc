// Every operation of the contract and its handler.

import { accounts } from './accounts/part.ts'
import { billing } from './billing/part.ts'
import { integration } from './integration/part.ts'
import * as audit from './platform/audit/handlers.ts'
import * as events from './platform/events/handlers.ts'
import type { Handlers } from './platform/http/handler.ts'

export const handlers = {
	...accounts.operations,
	...billing.operations,
	...integration.operations,
	'audit.list': audit.list,
	'webhooks.eventTypes.list': events.listTypes,
	'webhooks.events.list': events.list,
	'webhooks.events.get': events.get,
} satisfies Handlers
