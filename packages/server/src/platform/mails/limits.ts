// What keeps an organization from harming the server's name with other mail servers: no mail to suppressed addresses, and a
// number of recipients a day.

import type { OrganizationSettings } from '../../generated/contract.ts'
import { dayMs } from '../base/dates.ts'
import { ApiError, listedError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import { addressKey, distinct } from '../outside/mail/addresses.ts'
import { countRecipients, timeOfOldest } from './store.ts'
import { findSuppressed } from './suppression-store.ts'

/** The recipients of a mail, each with its place in the request. */
export interface Recipients {
	readonly to: string
	readonly cc?: readonly string[]
	readonly bcc?: readonly string[]
}

const words = { bounce: 'mail to it has come back', complaint: 'its owner has complained' }

/** Throws 422 `recipient_suppressed`, which names each field. */
export async function requireReachable(db: Db, { to, cc = [], bcc = [] }: Recipients): Promise<void> {
	const suppressed = await findSuppressed(db, [to, ...cc, ...bcc])
	if (suppressed.size === 0) return
	const places = [
		{ pointer: '/to', address: to },
		...cc.map((address, index) => ({ pointer: `/cc/${index}`, address })),
		...bcc.map((address, index) => ({ pointer: `/bcc/${index}`, address })),
	]
	const errors = places.flatMap(({ pointer, address }) => {
		const found = suppressed.get(addressKey(address))
		return found ? [{ pointer, code: 'recipient_suppressed', detail: `${address}: ${words[found.reason]}` }] : []
	})
	throw listedError('recipient_suppressed', 'The server sends no mail to these addresses', errors)
}

/** While an organization is new, it has a quarter of the limit. */
const newMs = 7 * dayMs

/**
 * Throws 429 `email_limit_reached` when the mail would bring the organization's recipients of the last 24 hours above the limit; 0
 * is no limit. Mails that failed count too. Organizations that send at several processes at once may get a few mails more.
 */
export async function requireDailyLimit(
	db: Db,
	{ id, createdAt }: OrganizationSettings,
	recipients: Recipients,
	{ dailyLimit, now }: { dailyLimit: number; now: number },
): Promise<void> {
	if (dailyLimit === 0) return
	const isNew = now < createdAt + newMs
	const limit = isNew ? Math.ceil(dailyLimit / 4) : dailyLimit
	const [added, count] = [countOf(recipients), await countRecipients(db, id, now - dayMs)]
	if (count + added <= limit) return
	const allowed = `The organization may send mail to ${limit} recipients in 24 hours`
	if (added > dailyLimit) throw limitReached(`${allowed}, never to ${added} in one mail: send it to fewer`, dayMs)
	if (added > limit) throw limitReached(`${allowed} in its first week, and this mail has ${added}`, createdAt + newMs - now)
	const freedBy = (await timeOfOldest(db, id, now - dayMs, count + added - limit)) ?? now
	throw limitReached(`${allowed}, and has sent to ${count}`, freedBy + dayMs - now)
}

/** How many get the mail: an address that is named twice gets it once. */
export const countOf = ({ to, cc = [], bcc = [] }: Recipients): number => distinct([to, ...cc, ...bcc]).length

function limitReached(reason: string, waitMs: number): ApiError {
	const seconds = Math.max(1, Math.ceil(waitMs / 1000))
	return new ApiError('email_limit_reached', `${reason}: try again in ${seconds} seconds.`, {
		headers: { 'Retry-After': String(seconds) },
	})
}
