// Where personal data may be in the tables of this context (app/erase/tables.ts).
import type { ErasableTables } from '../platform/db/erasable.ts'

export const erasable: ErasableTables = {
	api_keys: { key: ['id'], text: ['name'], json: ['scopes', 'resources'], plain: ['hash', 'lastFour', 'createdBy'] },
	users: { key: ['id'], text: ['name'], plain: ['email', 'role', 'passwordHash', 'issuer', 'subject'] },
	sessions: { key: ['id'], plain: ['userId', 'hash', 'userAgent', 'address'] },
	invitations: { key: ['id'], plain: ['hash', 'email', 'role', 'createdBy'] },
	password_resets: { key: ['userId'], plain: ['userId', 'hash'] },
	logos: { key: ['sha256'] },
}
