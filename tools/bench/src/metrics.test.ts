import { histogramTotals } from './metrics.js';

const exposition = `# TYPE gitopsreverser_git_push_duration_seconds histogram
gitopsreverser_git_push_duration_seconds_bucket{branch="main",le="0.1"} 1
gitopsreverser_git_push_duration_seconds_sum{branch="main"} 0.5
gitopsreverser_git_push_duration_seconds_count{branch="main"} 2
gitopsreverser_git_push_duration_seconds_sum{branch="a } 9"} 1.5
gitopsreverser_git_push_duration_seconds_count{branch="a } 9"} 1
gitopsreverser_other_git_push_duration_seconds_count 100
`;

it('adds up a histogram over its labels', () => {
  expect(histogramTotals(exposition, 'git_push_duration_seconds')).toEqual({ sum: 2, count: 3 });
});

it('a histogram that is not there has nothing', () => {
  expect(histogramTotals(exposition, 'watch_replay_duration_seconds')).toEqual({ sum: 0, count: 0 });
});
