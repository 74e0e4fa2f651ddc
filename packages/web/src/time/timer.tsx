import type { TimeEntry } from '@remit/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Play, Square } from 'lucide-react'
import { useEffect, useState } from 'react'
import { describe } from '../api/errors.ts'
import { useIdempotencyKey } from '../api/idempotency-key.ts'
import { useOnePress } from '../api/one-press.ts'
import { list, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { RecordPicker } from '../forms/record-picker.tsx'
import { useNames } from '../forms/use-names.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { toast } from '../ui/toast.ts'

/** Starts work now, or shows what is running and stops it: a person has one timer. */
export function Timer() {
	const { personId } = useSession()
	const { data } = useInfiniteQuery(list('timeEntries.list', { userId: personId, status: 'open', limit: 100 }))
	const running = data?.pages[0]?.rows.find(({ durationSeconds }) => durationSeconds === null)
	return (
		<section className="timer" aria-label="Timer">
			{running ? <Running key={running.id} entry={running} /> : <Start />}
		</section>
	)
}

function Start() {
	const { personId } = useSession()
	const [dealId, setDeal] = useState<string | null>(null)
	const [taskName, setTask] = useState('')
	const [isAsked, setAsked] = useState(false)
	const { mutate, isPending, error } = useWrite('timeEntries.create')
	const key = useIdempotencyKey()
	const start = () => {
		setAsked(true)
		if (!dealId) return
		const body = { dealId, userId: personId, ...(taskName.trim() && { taskName: taskName.trim() }) }
		mutate([body, key.options()], { onError: key.failed, onSuccess: key.renew })
	}
	return (
		<form
			className="timer-start"
			onSubmit={(event) => {
				event.preventDefault()
				start()
			}}
		>
			<RecordPicker
				kind="deals"
				label="Deal"
				value={dealId}
				onChange={setDeal}
				isRequired
				error={isAsked && !dealId ? 'Choose a deal' : undefined}
			/>
			<Field label="Task" value={taskName} onChange={setTask} maxLength={200} placeholder="What are you working on?" />
			<Button type="submit" icon={<Play />} isPending={isPending}>
				Start
			</Button>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</form>
	)
}

function Running({ entry: { id, dealId, taskName, startedAt } }: { entry: TimeEntry }) {
	const deal = useNames('deals', [dealId]).get(dealId)
	const { mutateAsync, isPending, error } = useWrite('timeEntries.update')
	const once = useOnePress()
	const now = useNow()
	const seconds = Math.max(0, Math.floor((now - startedAt) / 1_000))
	const two = (value: number) => String(value).padStart(2, '0')
	// The clocks of this machine and the server may differ.
	const stop = () =>
		once('stop', () => mutateAsync([id, { endedAt: Math.max(startedAt, Date.now()) }])).then(
			// Said also when the list that was read again has already taken this away, which ends the callbacks of `mutate`.
			() => void toast('The timer was stopped'),
			() => {},
		)
	return (
		<div className="timer-running">
			<span className="timer-dot" aria-hidden="true" />
			<div className="timer-what">
				<strong>{taskName ?? deal ?? 'Work'}</strong>
				{taskName && <span>{deal}</span>}
			</div>
			<span className="timer-clock" role="timer" aria-label="Running">
				{`${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`}
			</span>
			<Button icon={<Square />} isPending={isPending} onPress={stop}>
				Stop
			</Button>
			{error && <ErrorPanel isSmall {...describe(error)} />}
		</div>
	)
}

function useNow(): number {
	const [now, setNow] = useState(Date.now)
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1_000)
		return () => clearInterval(timer)
	}, [])
	return now
}
