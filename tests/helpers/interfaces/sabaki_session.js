// A session as Sabaki has it, by its own controller: node sabaki_session.js RECORD PROGRAM ARGUMENT…
// What was answered is printed as JSON.
const {Controller, ControllerStateTracker} = require('@sabaki/gtp')

const [record, program, ...programArgs] = process.argv.slice(2)
const controller = new Controller(program, programArgs)
const tracker = new ControllerStateTracker(controller)
const told = {stderr: []}
controller.on('stderr', ({content}) => told.stderr.push(content))

const ask = (name, ...args) => tracker.queueCommand({name, args})
const play = (colour, point) => ({name: 'play', args: [colour, point]})

// Begins an analysis; goes on when two lines of it have come.
function begin(name, ...args) {
  const lines = []
  return new Promise(resolve => {
    const answer = controller.sendCommand({name, args}, ({line}) => {
      lines.push(line)
      if (lines.filter(one => one.startsWith('info ')).length === 2) resolve({lines, answer})
    })
  })
}

// Ends it by other commands, as Sabaki does when the position changes.
async function end({lines, answer}, commands) {
  const next = commands()
  const {error} = await answer
  return {lines, error, next: await next}
}

async function main() {
  controller.start()
  told.hello = await Promise.all(
    ['name', 'version', 'protocol_version', 'list_commands'].map(name =>
      controller.sendCommand({name})
    )
  )
  const handicap = {name: 'set_free_handicap', args: ['D4', 'Q16', 'D16']}
  await tracker.sync({
    komi: 0.5,
    boardsize: [19, 19],
    timeSettings: {mainTime: 600, byoyomiTime: 30, byoyomiStones: 5},
    history: [handicap, play('W', 'Q4')]
  })
  told.move = await ask('genmove', 'B')
  told.kata = await end(await begin('kata-analyze', 'W', '1'), () =>
    controller.sendCommand({name: 'protocol_version'})
  )
  const other = [handicap, play('W', 'Q4'), play('B', 'C10')]
  told.lz = await end(await begin('lz-analyze', 'W', '1'), () => tracker.sync({history: other}))
  const lines = []
  await tracker.queueCommand({name: 'kata-genmove_analyze', args: ['W', '0']}, ({line}) =>
    lines.push(line)
  )
  told.moveWithAnalysis = lines
  told.history = tracker.state.history.map(({name, args}) => [name, ...args])
  told.undo = await ask('undo')
  told.board = await ask('showboard')
  await tracker.sync({history: [play('B', 'K10')]})
  told.fresh = await ask('showboard')
  told.loaded = await ask('loadsgf', record)
  told.score = await ask('final_score')
  told.dead = await ask('final_status_list', 'dead')
  const stopped = new Promise(resolve => controller.once('stopped', resolve))
  await controller.stop()
  told.exit = (await stopped).signal // its exit code, by another name
  console.log(JSON.stringify(told))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
