// Passwords are stored as argon2id (RFC 9106; the parameters are OWASP's minimum), in the PHC string format. A hash takes some 40 ms of
// a core and 19 MiB, so only two are made at once, shared fairly between those who ask.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ApiError } from '../base/errors.ts'
import { Shares } from '../fair/shares.ts'

const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/

const derive = promisify(argon2)

const patienceMs = 5_000
const shares = new Shares({ size: 2, patienceMs })

/** `owner` is who asks, such as the network of a visitor: each has a share of the places. Throws 503 when there is none for 5 s. */
async function inTurn<T>(owner: string, work: () => Promise<T>): Promise<T> {
	let begun = false
	const begin = () => {
		begun = true
		return work()
	}
	return shares.run(owner, begin).catch((cause) => {
		if (begun) throw cause
		const detail = 'More people sign in at the moment than the server can check.'
		throw new ApiError('unavailable', detail, { cause, headers: { 'Retry-After': '5' } })
	})
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')

export const hashPassword = (password: string, owner: string): Promise<string> =>
	inTurn(owner, async () => {
		const nonce = randomBytes(16)
		const tag = await derive('argon2id', { ...cost, message: password.normalize('NFC'), nonce })
		return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`
	})

/** What a password is checked against where nobody has one, so that it takes as long. No password has this hash. */
const nobodys = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(Buffer.alloc(16))}$${base64(Buffer.alloc(32))}`

/** Whether a password has this hash. Without a hash it has not, and the answer takes as long. */
export const verifyPassword = (password: string, hash: string | null | undefined, owner: string): Promise<boolean> =>
	inTurn(owner, async () => {
		const [, memory, passes, parallelism, nonce = '', tag = ''] = form.exec(hash ?? nobodys) ?? []
		const expected = Buffer.from(tag, 'base64')
		const made = await derive('argon2id', {
			message: password.normalize('NFC'),
			nonce: Buffer.from(nonce, 'base64'),
			memory: Number(memory),
			passes: Number(passes),
			parallelism: Number(parallelism),
			tagLength: expected.length,
		})
		return timingSafeEqual(made, expected)
	})
