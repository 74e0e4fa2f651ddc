import { useRef, useState } from 'react'
import { useOnePress } from '../../api/one-press.ts'
import { useRefresh } from '../../api/query.ts'
import { randomId } from '../../api/random-id.ts'
import { useSession } from '../../api/session.ts'
import { showAmount } from '../../format/amount.ts'
import { dayIn } from '../../format/dates.ts'
import { Button } from '../../ui/button.tsx'
import { DateField } from '../../ui/date-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'
import { type BatchAction, batches, type Failure, runBatch } from './batch.ts'
import type { Row } from './list-query.ts'
import './batch-dialog.css'

interface BatchDialogProps {
	readonly action: BatchAction
	readonly rows: readonly Row[]
	/** With the rows that are still to be done; undefined when nothing was. */
	readonly onClose: (left?: readonly string[]) => void
}

interface Progress {
	readonly rows: readonly Row[]
	readonly done: number
	readonly failures: readonly Failure[]
	readonly isRunning: boolean
}

const count = (rows: readonly unknown[]) => (rows.length === 1 ? '1 invoice' : `${rows.length} invoices`)

/** Asks, then does it invoice by invoice, then says what failed and why. */
export default function BatchDialog({ action, rows, onClose }: BatchDialogProps) {
	const batch = batches[action]
	const [progress, setProgress] = useState<Progress>()
	const isStopped = useRef(false)
	const [key] = useState(() => randomId())
	const { locale, timeZone } = useSession()
	const [paidDate, setPaidDate] = useState(() => dayIn(timeZone, Date.now()))
	const [method, setMethod] = useState('')
	const once = useOnePress()
	const refresh = useRefresh('invoices')
	const possible = rows.filter((row) => batch.obstacle(row) === undefined)
	const skipped = rows.flatMap((row) => {
		const reason = batch.obstacle(row)
		return reason === undefined ? [] : [{ row, reason }]
	})
	const start = (chosen: readonly Row[]) => once(chosen.map(({ id }) => id).join(), () => work(chosen))
	const work = async (chosen: readonly Row[]) => {
		isStopped.current = false
		const step = (done: number, failures: readonly Failure[], isRunning = true) =>
			setProgress({ rows: chosen, done, failures, isRunning })
		step(0, [])
		let last: readonly Failure[] = []
		let made = 0
		await runBatch(
			batch,
			chosen,
			({ id }) => `${key}-${id}`,
			{ paidDate, ...(method.trim() && { paymentMethod: method.trim() }) },
			(done, failures) => {
				last = failures
				made = done
				step(done, failures)
			},
			() => isStopped.current,
		)
		await refresh()
		if (made === chosen.length && last.length === 0) {
			toast(`${count(chosen)} ${chosen.length === 1 ? 'was' : 'were'} ${batch.done}`)
			onClose(skipped.map(({ row }) => row.id))
		} else step(made, last, false)
	}
	const isRunning = progress?.isRunning ?? false
	const close = () => onClose(progress && [...progress.failures, ...skipped].map(({ row }) => row.id))
	return (
		<Dialog
			title={progress ? `${batch.verb}: ${progress.done} of ${progress.rows.length}` : `${batch.act(count(possible))}?`}
			isOpen
			isKept={isRunning}
			onClose={close}
			role={progress ? 'dialog' : 'alertdialog'}
			actions={
				isRunning ? (
					<Button
						onPress={() => {
							isStopped.current = true
						}}
					>
						Stop after this one
					</Button>
				) : (
					<>
						<Button autoFocus onPress={close}>
							{progress ? 'Close' : 'Cancel'}
						</Button>
						{progress && progress.failures.length > 0 && (
							<Button look="primary" onPress={() => void start(progress.failures.map(({ row }) => row))}>
								Try the failed again
							</Button>
						)}
						{!progress && (
							<Button
								look={action === 'delete' ? 'danger' : 'primary'}
								isDisabled={possible.length === 0 || paidDate === ''}
								onPress={() => void start(possible)}
							>
								{batch.act(count(possible))}
							</Button>
						)}
					</>
				)
			}
		>
			{progress ? <Result progress={progress} done={batch.done} /> : <p>{batch.consequence}</p>}
			{!progress && action === 'pay' && (
				<>
					<p>
						In all <strong>{sumOf(possible, locale)}</strong>
					</p>
					<DateField label="Paid on" isRequired value={paidDate} onChange={setPaidDate} />
					<Field label="How" placeholder="Bank transfer" value={method} onChange={setMethod} />
				</>
			)}
			{!progress && <Reasons title="These are left out:" failures={skipped} />}
		</Dialog>
	)
}

/** What is owed on them; amounts of different currencies are never added up. */
function sumOf(rows: readonly Row[], locale: string): string {
	const sums = new Map<string, number>()
	for (const { currency, amountDueCents } of rows) sums.set(currency, (sums.get(currency) ?? 0) + amountDueCents)
	return [...sums].map(([currency, cents]) => showAmount(cents, currency, locale)).join(' + ')
}

const Result = ({ progress: { rows, done, failures, isRunning }, done: verb }: { progress: Progress; done: string }) => (
	<>
		<progress className="batch-progress" max={rows.length} value={done} aria-label="Done" />
		<p role="status">
			{`${done - failures.length} ${verb}`}
			{failures.length > 0 && `, ${failures.length} failed`}
			{!isRunning && done < rows.length && `, ${rows.length - done} not begun`}
		</p>
		<Reasons title="What failed:" failures={failures} />
	</>
)

const Reasons = ({ title, failures }: { title: string; failures: readonly Failure[] }) =>
	failures.length > 0 && (
		<div>
			<p>{title}</p>
			<ul className="batch-reasons">
				{failures.map(({ row, reason }) => (
					<li key={row.id}>
						<strong>{row.invoiceNumber}</strong> {reason}
					</li>
				))}
			</ul>
		</div>
	)
