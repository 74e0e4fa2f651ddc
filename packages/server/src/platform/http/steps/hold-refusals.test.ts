import { EventEmitter, once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { Request, Response } from 'express'
import { expect, it } from 'vitest'
import type { RateLimits } from '../../auth/rate-limit.ts'
import { ApiError } from '../../base/errors.ts'
import { holdRefusals } from './hold-refusals.ts'

it('asks for no timer in the past when the first of two refusals is given up after a long turn of the event loop', async () => {
	const warnings: string[] = []
	const onWarning = ({ name }: Error) => warnings.push(name)
	process.on('warning', onWarning)
	const hold = holdRefusals({ visitor: () => 'one' } as unknown as RateLimits)
	const refused = new ApiError('rate_limited', 'Too many.')
	const refuse = (next: () => void) => {
		const res = new EventEmitter()
		hold(refused, { context: {}, headers: {}, socket: {} } as unknown as Request, res as unknown as Response, next)
		return res
	}
	const first = refuse(() => {})
	const answered = new EventEmitter()
	const second = once(answered, 'answer')
	refuse(() => answered.emit('answer'))
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
	first.emit('close')
	await second
	await turn()
	process.off('warning', onWarning)
	expect(warnings).toEqual([])
})
