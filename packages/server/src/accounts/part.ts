// What this context gives to the app: operations, work without a request, what an erasure finds.

import type { Part } from '../platform/part.ts'
import { jobKinds } from '../platform/work/kinds.ts'
import * as apiKeys from './api-keys/handlers.ts'
import { erasable } from './erasable.ts'
import * as organizations from './organizations/handlers.ts'
import * as logo from './organizations/logo-handlers.ts'
import { repairJobs } from './organizations/repair-store.ts'
import { trimNames } from './organizations/trim-store.ts'
import * as users from './people/handlers.ts'
import * as invitations from './people/invitation-handlers.ts'
import * as sessions from './sessions/handlers.ts'
import * as passwords from './sessions/password-handlers.ts'
import * as setup from './sessions/setup.ts'

export const accounts = {
	operations: {
		'apiKeys.list': apiKeys.list,
		'apiKeys.create': apiKeys.create,
		'apiKeys.delete': apiKeys.remove,
		'apiKeys.rotate': apiKeys.rotate,
		'invitations.list': invitations.list,
		'invitations.create': invitations.create,
		'invitations.resend': invitations.resend,
		'invitations.delete': invitations.remove,
		'invitations.show': invitations.show,
		'invitations.accept': sessions.accept,
		'organization.get': organizations.get,
		'organization.usage.get': organizations.usage,
		'organization.update': organizations.update,
		'organization.replace': organizations.update,
		'organization.logo.get': logo.get,
		'organization.logo.replace': logo.replace,
		'organization.logo.delete': logo.remove,
		'session.get': sessions.get,
		'session.create': sessions.create,
		'session.delete': sessions.remove,
		'session.password.change': passwords.change,
		'session.password.reset': passwords.reset,
		'session.password.set': passwords.set,
		'sessions.list': sessions.list,
		'sessions.delete': sessions.end,
		'setup.get': setup.get,
		'setup.create': setup.create,
		'users.list': users.list,
		'users.get': users.get,
		'users.update': users.update,
		'users.replace': users.update,
		'users.delete': users.remove,
	},
	jobs: ({ db, log }) => ({
		[jobKinds.trimNames]: trimNames(db, log),
		[jobKinds.repair]: repairJobs,
	}),
	erasable,
} satisfies Part
